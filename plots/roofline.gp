# Operations below the roofs of a machine: the FMA peak, and what memory brings. NAME.dat: FLOP a
# byte, GFLOP/s, number; legend[number] is the operation, 0 one without a name, of which there are
# `others`. Neighbours have their numbers on either side.
marks = |legend|
roof(x) = x * bandwidth < peak ? x * bandwidth : peak
set bmargin at screen bottom + text * 3.6
set tmargin at screen top - text * 0.6
set lmargin at screen 0.095
set rmargin at screen 0.62
set xlabel xlabel
set ylabel ylabel
set logscale xy
set xrange [xmin : xmax]
set yrange [ymin : ymax]
set key at screen 0.64, screen top - text * 0.6 left top Left reverse samplen 1 spacing 1.15
set label 50 sprintf('FMA peak %.0f GFLOP/s', peak) at graph 0.02, first peak offset 0, 0.6 left textcolor rgb '#606060'
set label 51 sprintf('memory %.1f GB/s', bandwidth) at first sqrt(xmin * peak / bandwidth), first sqrt(xmin * bandwidth * peak) offset 1, -0.4 left textcolor rgb '#606060'
shape(i) = filled[(i - 1) % 8 + 1]
hue(i) = colour[(i - 1) % 8 + 1]

do for [format in formats] {
    eval canvas(format)
    eval decorate
    plot roof(x) with lines lw 2 lc rgb '#808080' notitle, \
        name.'.dat' using ($3 == 0 ? $1 : NaN):2 with points pt 7 ps 0.35 lc rgb '#a0a0a0' title (others ? sprintf('%d others', others) : ''), \
        for [i = 1:marks] name.'.dat' using ($3 == i ? $1 : NaN):2 with points pt shape(i) ps 0.9 lc rgb hue(i) title sprintf('%2d  %s', i, legend[i]), \
        for [side = 0:1] name.'.dat' using ($3 > 0 && int($3) % 2 == side ? $1 : NaN):2:(sprintf('%d', $3)) with labels offset (side ? -1.2 : 1.2), 0 font ',9' textcolor rgb '#404040' notitle
    unset output
}
