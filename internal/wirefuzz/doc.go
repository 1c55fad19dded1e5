// Package wirefuzz sends random sequences of frontend messages to a Postgres and to whatever claims to be one, and
// compares what they answer.
//
// A Sequence is rounds of messages in the language of package pgtest. Generate makes one from a seed, Run sends it to a
// site and returns its Transcript, Shrink drops what a difference does not need, and Script prints what is left as a
// script, which then is a test for good.
//
// The one rule: a sequence is legal or illegal at random, but what is known to differ is left out by a rule with a name
// (rules.go), never by looking at the answer.
package wirefuzz
