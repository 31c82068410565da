# Bars of shares that add up to 100 %. NAME.dat: place, rank, then a share for each legend; what is
# not known has no part of the bar.
parts = |legend|
set bmargin at screen bottom + text * 3.6
set tmargin at screen top - text * 3.2
set lmargin at screen 0.095
set rmargin at screen 0.97
set xlabel xlabel
set ylabel ylabel
set xrange [0.3 : places + 0.7]
set yrange [0 : 100]
set xtics scale 0
set grid noxtics
set style fill solid 1.0 border rgb '#FFFFFF'
set boxwidth 0.9
set key at screen 0.095, screen top left top horizontal Left reverse width 2 maxcols 2 samplen 1.5
share(part) = valid(2 + part) ? column(2 + part) : 0
up_to(part) = sum [i = 1:part] share(i)

do for [format in formats] {
    eval canvas(format)
    eval decorate
    if (format eq 'dumb') { unset grid }
    plot for [i = parts:1:-1] name.'.dat' using 1:(up_to(i)) with boxes lw 0.5 lc rgb colour[i] title legend[i]
    unset output
}
