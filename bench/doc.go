// Command bench measures Sluice from outside, over sockets, beside what it is to be compared with, and prints Markdown
// tables of ratios. It starts and ends everything itself: a private Postgres, PgBouncer, the sluice binary.
//
// What is compared runs in one run, in turns, in one scheduler session, and each ratio is the median of the ratios of the
// turns: the machine's mood cancels out. Figures in absolute units are of this machine and this hour.
//
// The one rule: nothing is measured that the harness itself could be the bottleneck of, so its client reads frames and
// counts them, no more.
package main
