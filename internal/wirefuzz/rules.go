package wirefuzz

// theme is what a sequence is about. Its groups may stand together; which ones may not is a rule below.
type theme struct {
	name   string
	groups [][]statement
	routes []string // values of sluice.route; none: the free choice
	ddl    bool     // the relations must be made anew behind it
}

// Rule "one writer": a transaction that writes to a foreign server writes nothing at home and has no savepoints, for
// nothing makes two commits one (DESIGN, Transactions). So sequences with foreign writes have neither.
var themes = []theme{
	{"pipelines", [][]statement{foreignReads, foreignReads, homeReads, homeWrites, transactions}, []string{"", "home_join"}, false},
	{"savepoints", [][]statement{foreignReads, homeWrites, transactions, transactions, savepoints, savepoints}, []string{"", "home_join"}, false},
	{"writes", [][]statement{foreignWrites, foreignWrites, foreignReads, transactions, homeReads}, nil, false},
	{"cursors", [][]statement{cursors, cursors, cursors, foreignReads, transactions, savepoints}, []string{"", "home_join"}, false},
	{"preparations", [][]statement{preparations, preparations, foreignReads, transactions, homeReads}, []string{"", "home_join"}, false},
	{"settings", [][]statement{settings, settings, foreignReads, copies, transactions}, []string{"", "home_join"}, false},
	{"copies", [][]statement{copies, copies, homeWrites, foreignReads, transactions}, []string{"", "home_join"}, false},
	{"definitions", [][]statement{definitions, foreignReads, foreignReads, transactions}, []string{"", "home_join"}, true},
}
