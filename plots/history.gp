# Changes from commit to commit, in percent: accumulated ones of whole training steps above, those of
# single kernels below, and beside them what became slower where. Blocks 0 to lines - 1 of NAME.dat are
# steps of models, block `lines` are kernels: check, change, low, high, verdict (0 same, 1 faster,
# 2 slower, 3 inconclusive). Of each check: commits, days, follows (0: it does not go on from the one to
# the left), marks (its number in the list of what is slower; -1: slower, but not listed; 0: not slower).
checks = |commits|
array hue[8] = ['#0072B2', '#CC79A7', '#000000', '#E69F00', '#56B4E9', '#8C6D00', '#0072B2', '#CC79A7']
slower = '#D55E00'
faster = '#009E73'
dumb = formats eq 'dumb'
left = 0.085
right = dumb ? 0.97 : 0.62

# Few commits are named side by side, more of them upright, and of many only some.
upright = checks > 8
every = ceil(checks / 36.0)
no_names = "set xtics ('' 1) scale 0"
names = "set xtics () scale 0.5; do for [i = 1:checks:every] { set xtics add (commits[i].(upright ? '  ' : \"\\n\").days[i] i) }; ".\
    "if (upright) { set xtics rotate by 90 right font ',8' } else { set xtics norotate font ',9' }"

# From above: the legend of the steps, numbers of checks, steps, the legend of the kernels, kernels.
base = bottom + text * (upright ? 4.8 : 2.8)
legend_rows = ceil(lines / 2.0)
upper_top = top - text * (dumb ? legend_rows : lines > 0 ? legend_rows + 1.4 : 2.4)
upper_base = dumb || points == 0 ? base : base + (upper_top - base) * 0.55
lower_top = dumb || lines == 0 ? upper_top : upper_base - text * 1.7
large = checks > 30 ? 0.6 : 0.9
all_intervals = points <= 400
as(verdict) = valid(5) && column(5) == verdict ? column(2) : NaN
last(s) = ends[s] == ends[s] ? sprintf(', now %+.1f %%', ends[s]) : ''

set lmargin at screen left
set rmargin at screen right
set xrange [0.5 : checks + 0.5]
set ytics autofreq font ',10'
set ytics add ('0' 0)
set format y '%+g'
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead back lw 1 lc rgb '#404040'

# Behind the data: checks that found something slower, and where the history is broken.
do for [i = 1:checks] {
    if (marks[i] != 0 && checks > 1) { set object i rectangle from first i - 0.5, graph 0 to first i + 0.5, graph 1 behind fillcolor rgb '#FBE6DA' fillstyle solid noborder }
    if (i > 1 && !follows[i]) { set arrow 1 + i from first i - 0.5, graph 0 to first i - 0.5, graph 1 nohead back lw 1 dt 3 lc rgb '#808080' }
}

# Numbers that would touch are at two heights.
near = checks / 30.0
array lift[checks]
before = -checks
raised = 0
do for [i = 1:checks] {
    if (marks[i] > 0) { raised = i - before < near ? !raised : 0; lift[i] = raised; before = i }
}
numbers = "do for [i = 1:checks] { if (marks[i] > 0) { set label 1000 + i sprintf('%d', marks[i]) at first i, graph 1 center offset 0, (lift[i] ? 1.1 : 0.45) font ',10' textcolor rgb slower } }"

list_size = list_longest > 48 ? 9 * 48.0 / list_longest : 9
group = 0
row(i) = top - text * (0.2 + 0.9 * i + 0.4 * group)
list = "set label 200 (list_rows ? 'What became slower' : 'Nothing became slower') at screen right + 0.025, row(0) left font ',12' textcolor rgb (list_rows ? slower : faster); ".\
    "do for [i = 1:list_rows] { ".\
    "if (list_number[i]) { group = list_number[i]; set label 200 + 2 * i sprintf('%d', group) at screen right + 0.025, row(i) left font ',10' textcolor rgb slower }; ".\
    "set label 201 + 2 * i list_row[i] at screen right + 0.045, row(i) left font sprintf(',%.1f', list_number[i] ? 10 : list_size) textcolor rgb (list_number[i] ? '#000000' : '#404040') }; ".\
    "if (unlisted) { group = group + 1; set label 250 others at screen right + 0.045, row(list_rows + 1) left font ',10' textcolor rgb '#000000' }; group = 0"
others = unlisted == 1 ? 'and something at one other commit' : sprintf('and something at %d other commits', unlisted)

steps = "set tmargin at screen upper_top; set bmargin at screen upper_base; set yrange [step_min : step_max]; ".\
    "set ylabel 'whole step, accumulated, %' offset 0.5, 0 font ',10'; ".\
    "set key at screen left, screen top left top horizontal Left reverse samplen 2 maxcols 2 font ',10'"
kernels = "set tmargin at screen lower_top; set bmargin at screen base; set yrange [kernel_min : kernel_max]; ".\
    "set ylabel 'single kernels, %' offset 0.5, 0 font ',10'; ".\
    "set key at screen left, screen (lines > 0 ? lower_top + text * 1.3 : top) left top horizontal Left reverse samplen 1 maxcols 4 font ',10'"

do for [format in formats] {
    eval canvas(format)
    eval decorate
    eval numbers
    if (format ne 'dumb') { eval list; set multiplot } else { unset object; unset grid }
    if (lines > 0) {
        eval steps
        if (points > 0 && format ne 'dumb') { eval no_names } else { eval names }
        plot for [s = 1:(format eq 'dumb' ? 0 : lines)] name.'.dat' index s - 1 using 1:3:4 with filledcurves fs transparent solid 0.15 noborder lc rgb hue[s] notitle, \
            for [s = 1:lines] name.'.dat' index s - 1 using 1:2 with lines lw 2.5 dt dashes[s] lc rgb hue[s] title legend[s].last(s), \
            for [s = 1:lines] name.'.dat' index s - 1 using 1:(as(0)) with points pt 7 ps 0.5 lc rgb hue[s] notitle, \
            for [s = 1:lines] name.'.dat' index s - 1 using 1:(as(3)) with points pt 6 ps 0.7 lc rgb hue[s] notitle, \
            for [s = 1:lines] name.'.dat' index s - 1 using 1:(as(1)) with points pt 11 ps 1.2 lc rgb faster notitle, \
            for [s = 1:lines] name.'.dat' index s - 1 using 1:(as(2)) with points pt 9 ps 1.2 lc rgb slower notitle
        if (format ne 'dumb') { unset label } # all of them, once
    }
    if (points > 0) {
        eval kernels
        eval names
        plot name.'.dat' index lines using 1:(all_intervals && $5 != 1 && $5 != 2 ? $2 : NaN):3:4 with yerrorbars pt 0 lw 0.7 lc rgb '#C0C0C0' notitle, \
            for [v = 1:2] name.'.dat' index lines using 1:($5 == v ? $2 : NaN):3:4 with yerrorbars pt 0 lw 1.2 lc rgb (v == 1 ? faster : slower) notitle, \
            name.'.dat' index lines using 1:(as(2)) with points pt 9 ps 1.2 * large lc rgb slower title 'slower', \
            name.'.dat' index lines using 1:(as(1)) with points pt 11 ps 1.2 * large lc rgb faster title 'faster', \
            name.'.dat' index lines using 1:(as(0)) with points pt 7 ps 0.35 * large lc rgb '#808080' title 'same', \
            name.'.dat' index lines using 1:(as(3)) with points pt 6 ps 0.7 * large lc rgb '#808080' title 'inconclusive'
    }
    if (format ne 'dumb') { unset multiplot }
    unset output
}
if (dumb) {
    set print '-'
    do for [i = 1:list_rows] { print list_number[i] ? sprintf('%4d  ', list_number[i]).list_row[i] : '      '.list_row[i] }
    if (unlisted) { print '      '.others }
    unset print
}
