# SPDX-License-Identifier: BSD-2-Clause
# plot.gp - how a figure looks: out, heading, x, y, y2 (the right axis, or none)
# and log (x, y, xy or none) are given by -e before it, what to plot behind it.
set datafile separator ','
set terminal svg noenhanced size 720,420 font 'sans,13' background '#ffffff'
set output out
set title heading
set xlabel x
set ylabel y
set key outside below autotitle columnhead
set grid
if (strlen(y2)) set y2label y2; set y2tics; set ytics nomirror
if (strlen(log)) set logscale @log
