package parser

import (
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Children calls visit for each message that m holds, in the order of the grammar, with the field that holds it.
//
// A Node has one of some 270 fields, so that to ask for each whether it is there takes most of the time of a walk: a Node
// is asked which one it has, and of all other messages only those fields are looked at that can hold messages.
func Children(m protoreflect.Message, visit func(f protoreflect.FieldDescriptor, child protoreflect.Message)) {
	d := m.Descriptor()
	if d == nodeDescriptor {
		if f := m.WhichOneof(nodeOneof); f != nil {
			visit(f, m.Get(f).Message())
		}
		return
	}
	for _, f := range shapeOf(d).messages {
		if !m.Has(f) {
			continue
		}
		if !f.IsList() {
			visit(f, m.Get(f).Message())
			continue
		}
		list := m.Get(f).List()
		for i := range list.Len() {
			visit(f, list.Get(i).Message())
		}
	}
}

var (
	nodeDescriptor = (&pg_query.Node{}).ProtoReflect().Descriptor()
	nodeOneof      = nodeDescriptor.Oneofs().Get(0)
)

// shape says which fields of a kind of message matter to walks.
type shape struct {
	messages  []protoreflect.FieldDescriptor
	locations []protoreflect.FieldDescriptor // offsets into the text
}

var shapes sync.Map // protoreflect.MessageDescriptor → *shape

func shapeOf(d protoreflect.MessageDescriptor) *shape {
	if s, ok := shapes.Load(d); ok {
		return s.(*shape)
	}
	s := &shape{}
	fields := d.Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.Kind() == protoreflect.MessageKind:
			s.messages = append(s.messages, f)
		case f.Name() == "location" || f.Name() == "stmt_location" || f.Name() == "stmt_len":
			s.locations = append(s.locations, f)
		}
	}
	shapes.Store(d, s)
	return s
}
