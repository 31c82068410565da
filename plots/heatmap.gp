# A number for each pair of two parameters. NAME.dat: column, row, value, text.
set bmargin at screen bottom + text * 3.6
set tmargin at screen top - text * 0.6
set lmargin at screen 0.095
set rmargin at screen 0.86
set xlabel xlabel
set ylabel ylabel offset -1, 0
set format cb (high >= 10000 ? '%.0s%c' : '%g')
set cblabel cblabel offset 1, 0
set xrange [0.5 : width + 0.5]
set yrange [0.5 : height + 0.5]
set cbrange [low : high > low ? high : low + 1]
set palette defined (0 '#F2F6FB', 0.5 '#6BAED6', 1 '#08306B')
set colorbox user origin 0.885, bottom + text * 3.6 size 0.02, top - bottom - text * 4.2
set border 0
set tics scale 0
unset grid
unset key
dark(v) = v > low + 0.55 * (high - low)
cells = width > 12 ? 9 : 12

do for [format in formats] {
    eval canvas(format)
    eval decorate
    if (format eq 'dumb') {
        set title cblabel offset 0, -1
        plot name.'.dat' using 1:2:(stringcolumn(4)) with labels
    } else {
        plot name.'.dat' using 1:2:(0.5):(0.5):3 with boxxyerror fs solid lw 2 fc palette, \
            name.'.dat' using (dark($3) ? $1 : NaN):2:(stringcolumn(4)) with labels font ','.cells textcolor rgb '#FFFFFF', \
            name.'.dat' using (dark($3) ? NaN : $1):2:(stringcolumn(4)) with labels font ','.cells textcolor rgb '#000000'
    }
    unset output
}
