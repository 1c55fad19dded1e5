package keep

import (
	"slices"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Rules say what an engine can keep.
type Rules struct {
	// Engine is what messages call it.
	Engine string
	// Remote is the engine's type that keeps all values of a type, but for those which Store refuses; empty where there is none.
	Remote func(t Type) string
	// Names reports whether a column can have a name; nil where it can have any.
	Names func(name string) bool
	// Folds says that names which differ by case alone are one.
	Folds bool
	// BatchBytes and BatchRows bound what Store gets at once; 0 is engines.BatchBytes, and no bound in rows. A single wider row
	// comes alone.
	BatchBytes, BatchRows int
}

// Column is a column of a table that is made.
type Column struct {
	Name   string
	Type   Type
	Remote string // the engine's type
}

// Columns says as what columns are kept; 0A000 for types and names that cannot be.
func (r Rules) Columns(columns []engines.Column) ([]Column, error) {
	if len(columns) == 0 {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "%s keeps no table without columns", r.Engine), "Select something, or keep the result at home.")
	}
	kept, names := make([]Column, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		t, ok := Parse(c.Type)
		remote := ""
		if ok {
			remote = r.Remote(t)
		}
		if remote == "" {
			return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "column %q of type %s cannot be kept by %s as it is", c.Name, c.Type, r.Engine),
				"Cast it in the query, for instance to text, or keep the result at home.")
		}
		if r.Names != nil && !r.Names(c.Name) {
			return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "%s has no columns of the name %q", r.Engine, c.Name), "Give it another name, or keep the result at home.")
		}
		if names[i] = c.Name; r.Folds {
			names[i] = strings.ToLower(c.Name)
		}
		if at := slices.Index(names[:i], names[i]); at >= 0 {
			return nil, pgerr.Hint(pgerr.New(pgerr.DuplicateColumn, "%s takes columns %q and %q for one", r.Engine, columns[at].Name, c.Name), "Give one of them another name.")
		}
		kept[i] = Column{Name: c.Name, Type: t, Remote: remote}
	}
	return kept, nil
}

// Declare is that of an engines.Keeper whose foreign columns note their remote type.
func (r Rules) Declare(server string, columns []engines.Column) ([]map[string]string, error) {
	kept, err := r.Columns(columns)
	if err != nil {
		return nil, pgerr.AtServer(server, err)
	}
	options := make([]map[string]string, len(kept))
	for i, c := range kept {
		options[i] = map[string]string{"remote_type": c.Remote}
	}
	return options, nil
}

// Definitions are columns as CREATE TABLE has them, with their parentheses.
func Definitions(columns []Column, quoted func(name string) string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quoted(c.Name) + " " + c.Remote
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// Unwilling is what Keeps of an engines.Keeper says of a server that has not the options it takes.
func Unwilling(server, options string) error {
	return pgerr.AtServer(server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q does not take handles", server),
		"One with %s does, where the remote user may make tables; leave the server out for home.", options))
}
