# Lines over an axis, with 95 % intervals; `panels` side by side. Block (panel - 1) * lines + line
# of NAME.dat, from 0, is a line: x, value, low, high, n, hollow (1: oversubscribed), lost (runs
# without a value). NAME.repeats.dat has single runs: panel, line, x, value. Accuracies may be drawn
# by the logarithm of the error.
keys = lines > 1 || legend[1] ne '' || ideal ? lines + (ideal > 0) : 0
fitting = floor(0.875 / (0.074 + 0.0099 * longest))
legend_columns = fitting < 1 ? 1 : fitting
legend_rows = ceil(keys / (1.0 * legend_columns))
block(panel, line) = (panel - 1) * lines + line - 1
left(panel) = 0.095 + (panel - 1) * 0.5
right(panel) = panels == 1 ? 0.97 : left(panel) + 0.385
moved(x, by) = logx ? x * 2 ** by : x + by * (xmax - xmin) / 8
beside(x, line) = moved(x, dodge * (line - (lines + 1) / 2.0))
below(x, line) = moved(x, 0.13 * (line - (lines + 1) / 2.0))
shown(panel, y) = by_error[panel] ? 100 - y : y
known(c) = valid(c) ? column(c) : NaN # a line is broken where it has no value
repeats = has_repeats ? name.'.repeats.dat' : name.'.dat'
ideal_at(x) = level ? ideal : ideal * x

set bmargin at screen bottom + text * 3.6
set tmargin at screen top - text * (1.3 * legend_rows + 0.6)
if (logx) { set logscale x 2; set xrange [moved(xmin, -0.35) : moved(xmax, 0.35)] } else { set xrange [xmin - xpad : xmax + xpad] }

do for [format in formats] {
    eval canvas(format)
    eval decorate
    if (panels > 1 && format ne 'dumb') {
        # The legend, and nothing else, over the whole width.
        set multiplot
        set lmargin at screen left(1); set rmargin at screen right(2)
        set key at screen left(1), screen top left top horizontal Left reverse width 2 maxcols legend_columns samplen 2.5 spacing 1.1
        set yrange [0:1]; unset logscale y; set border 0; set tics scale 0 textcolor rgb '#FFFFFFFF'; unset grid; unset xlabel; unset ylabel
        if (!keys) { unset key }
        plot for [s = 1:lines] NaN with linespoints lw 2 dt dashes[s] pt filled[s] ps 0.9 lc rgb colour[s] title legend[s]
        unset label; unset key
        eval frame
    } else {
        if (keys) { set key at screen left(1), screen top left top horizontal Left reverse width 2 maxcols legend_columns samplen 2.5 spacing 1.1 } else { unset key }
    }
    set xlabel xlabel
    do for [panel = 1:panels] {
        set lmargin at screen (format eq 'dumb' ? 0.13 : left(panel))
        set rmargin at screen (format eq 'dumb' ? 0.97 : right(panel))
        set ylabel ylabel[panel]
        if (format eq 'dumb') { unset ylabel; set title ylabel[panel] offset 0, -1; unset grid }
        set yrange [shown(panel, ymin[panel]) : shown(panel, ymax[panel])]
        unset logscale y
        set ytics autofreq nomirror
        if (logy[panel]) { set logscale y logy[panel] }
        if (logy[panel] == 10) { set ytics (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) }
        if (by_error[panel]) {
            set logscale y 10
            set ytics ('10' 90, '30' 70, '50' 50, '70' 30, '80' 20, '90' 10, '95' 5, '97' 3, '98' 2, '99' 1, '99.5' 0.5, '99.8' 0.2, '99.9' 0.1, '99.99' 0.01)
        }
        plot for [i = 1:(ideal > 0)] ideal_at(x) with lines lw 1.5 dt 2 lc rgb '#808080' title 'ideal', \
            for [s = 1:lines] repeats using (has_repeats && $1 == panel && $2 == s ? beside($3, s) : NaN):(shown(panel, $4)) with points pt 7 ps 0.4 lc rgb faint(s) notitle, \
            for [s = 1:lines] name.'.dat' index block(panel, s) using (beside($1, s)):(shown(panel, $2)):(shown(panel, $3)):(shown(panel, $4)) with yerrorbars pt 0 lw 1.2 lc rgb colour[s] notitle, \
            for [s = 1:lines] name.'.dat' index block(panel, s) using (beside($1, s)):(shown(panel, known(2))) with linespoints lw 2 dt dashes[s] pt filled[s] ps 0.9 lc rgb colour[s] title legend[s], \
            for [s = 1:lines] name.'.dat' index block(panel, s) using (beside($1, s)):($6 == 1 ? shown(panel, $2) : NaN) with points pt filled[s] ps 0.6 lc rgb '#FFFFFF' notitle, \
            for [s = 1:lines] name.'.dat' index block(panel, s) using (below($1, s)):($7 > 0 ? shown(panel, mark[panel]) : NaN) with points pt 2 ps 0.8 lw 2 lc rgb colour[s] notitle, \
            for [s = 1:lines] name.'.dat' index block(panel, s) using (below($1, s)):($7 > 0 ? shown(panel, mark[panel]) : NaN):(sprintf('%g', $7)) with labels offset 0, 0.8 font ',9' textcolor rgb colour[s] notitle
    }
    if (panels > 1 && format ne 'dumb') { unset multiplot }
    unset output
}
