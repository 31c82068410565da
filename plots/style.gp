# The look of every figure, and where it is drawn to.
#
# A figure's script is: values (title, labels, number of lines), this file, and one of lines.gp,
# heatmap.gp, bars.gp, scoreboard.gp, roofline.gp and history.gp. `gnuplot NAME.gp` in its folder draws
# NAME.svg, NAME.png and NAME.pdf.
# May be set before: formats (of svg, png, pdf, dumb), suffix (of the pictures' names), and for
# dumb: columns, rows, colours ('ansi' or 'mono').
if (!exists("formats")) formats = 'svg png pdf'
if (!exists("suffix")) suffix = ''
if (!exists("columns")) columns = 100
if (!exists("rows")) rows = 30
if (!exists("colours")) colours = 'mono'

# A gnuplot that was built without cairo draws what it can.
can(terminal) = strstrt(' '.GPVAL_TERMINALS.' ', ' '.terminal.' ') > 0
terminal_of(format) = format eq 'png' || format eq 'pdf' ? format.'cairo' : format
wanted = formats
formats = ''
do for [format in wanted] {
    if (can(terminal_of(format))) { formats = formats.(formats eq '' ? '' : ' ').format }
}

set encoding utf8
set datafile separator "\t"
set datafile missing '?'

# Okabe and Ito's colours, which people tell apart whatever their eyes; shapes and dashes tell the
# lines apart without them.
array colour[8] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000', '#8C6D00']
array filled[8] = [7, 5, 9, 13, 11, 15, 7, 5]
array hollow[8] = [6, 4, 8, 12, 10, 14, 6, 4]
array dashes[8] = [1, 1, 1, 1, 1, 1, 4, 4]
faint(s) = '#B0'.colour[s][2:7]

frame = "set border 3 lw 1 lc rgb '#404040'; set tics out nomirror scale 1 textcolor rgb '#404040'; set grid back lt 1 lw 0.5 lc rgb '#E0E0E0'"
eval frame
set errorbars 0.6
set samples 200

# A wide font, so that texts that fit do so in others, too.
file(format) = name.suffix.'.'.format
canvas(format) = \
    format eq 'svg' ? "set terminal svg size 900,580 noenhanced background '#FFFFFF' font 'DejaVu Sans,Verdana,Helvetica,Arial,sans-serif' fontscale 1.12; set output file('svg')" : \
    format eq 'png' ? "set terminal pngcairo size 1800,1160 noenhanced font 'DejaVu Sans,12' fontscale 1.78 linewidth 2 pointscale 2; set output file('png')" : \
    format eq 'pdf' ? "set terminal pdfcairo size 22.5cm,14.5cm noenhanced font 'DejaVu Sans,12' fontscale 0.64; set output file('pdf')" : \
    "set terminal dumb noenhanced size columns,rows ".colours

# The title above, the caption below; `top` and `bottom` bound what is between them.
caption_rows = |caption|
text = formats eq 'dumb' ? 1.0 / rows : 0.032
bottom = text * (caption_rows + 0.8)
top = 1 - text * 2.4
title_size = strlen(title) > 84 ? floor(15 * 84.0 / strlen(title)) : 15
decorate = "set label 100 title at screen 0.02, 1 - text * 1.2 left font ','.title_size textcolor rgb '#000000'; ".\
    "do for [i = 1:caption_rows] { set label 100 + i caption[i] at screen 0.02, text * (caption_rows - i + 0.7) left font ',9' textcolor rgb '#606060' }"
