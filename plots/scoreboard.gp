# Values of a word as rows, the best first, with 95 % intervals; a panel for each setting of the rest,
# two side by side, with an axis of its own. Block `panel` of NAME.dat, from 0: place, value, low, high, n,
# best (1 or 0), ratio, end of what is drawn, text. NAME.repeats.dat has single runs: panel, line, place, value.
panels = |panel_title|
across = panels > 1 && formats ne 'dumb' ? 2 : 1
down = formats eq 'dumb' ? 1 : ceil(panels / (1.0 * across))
column_of(panel) = (panel - 1) % across
row_of(panel) = formats eq 'dumb' ? 0 : int((panel - 1) / across)

# Few rows have larger letters, and long labels smaller ones.
size = places * down > 10 ? 10 : 12
letter = formats eq 'dumb' ? 1.0 / columns : 0.00084 * size
label_room = 0.025 + letter * longest_label
label_size = label_room > 0.4 ? floor(size * 0.4 / label_room) : size
if (label_room > 0.4) { label_room = 0.4 }
gap = 0.025
width = (0.98 - label_room - gap * (across - 1)) / across
height = (top - bottom - text * 1.8) / down
left(panel) = label_room + column_of(panel) * (width + gap)
upper(panel) = top - row_of(panel) * height

# Titles side by side must not touch.
longest_heading = 1
do for [panel = 1:panels] { if (strlen(panel_title[panel]) > longest_heading) { longest_heading = strlen(panel_title[panel]) } }
heading_size = floor(width / (0.0007 * longest_heading))
if (heading_size > 12) { heading_size = 12 }

# The text of the longest bar has to fit beside it.
beside = (letter * longest_text + 0.02) / width
if (beside > 0.6) { beside = 0.6 }
span(panel) = (high[panel] - low[panel]) / (1 - beside)
start(panel) = bars ? 0 : low[panel] - 0.04 * span(panel)

# Some tics, where there are values: 2, 5 or 10 times a power of ten apart.
power(step) = 10.0 ** floor(log10(step))
rounded(step) = step > 5 * power(step) ? 10 * power(step) : step > 2 * power(step) ? 5 * power(step) : 2 * power(step)
step(panel) = rounded((high[panel] - low[panel]) / 5.0)
first_tic(panel) = step(panel) * ceil(low[panel] / step(panel))

half = 0.05 * (places + 0.2) / height # of a bar, which few rows do not make thick
if (half > 0.36) { half = 0.36 }

set yrange [places + 0.6 : 0.4]
set grid noytics
set errorbars 0.5
unset key

do for [format in formats] {
    eval canvas(format)
    eval decorate
    if (format ne 'dumb') { set multiplot } else { unset grid }
    do for [panel = 1:panels] {
        set lmargin at screen left(panel)
        set rmargin at screen left(panel) + width
        set tmargin at screen upper(panel) - text * 1.5
        set bmargin at screen upper(panel) - height + text * 1.9
        set title panel_title[panel] offset 0, -0.6 font ','.heading_size
        set xrange [start(panel) : low[panel] + span(panel)]
        set xtics first_tic(panel), step(panel), high[panel] font ','.size
        set format x (high[panel] >= 10000 ? '%.0s%c' : '%g')
        set xlabel (panel + across > panels ? xlabel : '') offset 0, 0.4
        set ytics scale 0 font ','.label_size textcolor rgb (column_of(panel) == 0 ? '#202020' : '#FFFFFFFF')
        plot for [i = 1:bars] name.'.dat' index panel - 1 using 2:1:(0):2:($1 - half):($1 + half):($6 == 1 ? 0x0072B2 : 0xA9C6DB) with boxxyerror fs solid 1.0 noborder lc rgb variable, \
            name.'.repeats.dat' using ($1 == panel ? $4 : NaN):($3 + 0.6 * half) with points pt 7 ps 0.35 lc rgb (bars ? '#60000000' : '#900072B2'), \
            name.'.dat' index panel - 1 using 2:1:3:4 with xerrorbars pt 0 lw 1.5 lc rgb (bars ? '#303030' : '#0072B2'), \
            for [i = bars:0] name.'.dat' index panel - 1 using 2:1 with points pt 7 ps 0.9 lc rgb '#0072B2', \
            name.'.dat' index panel - 1 using (valid(8) ? column(8) : start(panel)):1:(stringcolumn(9)) with labels left offset 0.8, 0 font ','.size textcolor rgb '#202020'
        if (format ne 'dumb') { unset label } # the title and the caption, once
    }
    if (format ne 'dumb') { unset multiplot }
    unset output
}
