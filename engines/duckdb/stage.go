package duckdb

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const codeCharacterNotInRepertoire = "22021"

func stageColumn(i int) string { return fmt.Sprintf("c%d", i) }

// stage puts all rows into a new temporary table of VARCHAR columns and returns its name.
func (t *tx) stage(ctx context.Context, rows engines.Stream, lists []bool) (string, error) {
	t.staged++
	table := fmt.Sprintf("sluice_stage_%d", t.staged)
	name := "temp.main." + table
	definitions := make([]string, len(lists))
	for i := range definitions {
		definitions[i] = stageColumn(i) + " VARCHAR"
	}
	if _, err := t.connection.exec(ctx, "CREATE TEMP TABLE "+name+" ("+strings.Join(definitions, ", ")+")"); err != nil {
		return "", err
	}
	a, err := newAppender(t.connection, table, lists)
	if err != nil {
		return "", err
	}
	defer a.close()
	for {
		batch, err := rows.Next(ctx)
		if err == io.EOF {
			return name, a.finish()
		}
		if err == nil {
			err = a.add(batch)
		}
		if err != nil {
			return "", err
		}
	}
}

// appender fills a table of VARCHAR columns by chunks, bounded in rows and bytes.
type appender struct {
	handle  bindings.Appender
	chunk   bindings.DataChunk
	vectors []bindings.Vector
	lists   []bool // columns whose values are Postgres arrays, to be staged as JSON
	row     int
	size    int
	scratch []byte
}

func newAppender(c *connection, table string, lists []bool) (*appender, error) {
	a := &appender{lists: lists, vectors: make([]bindings.Vector, len(lists))}
	if bindings.AppenderCreateExt(c.handle, "temp", "main", table, &a.handle) == bindings.StateError {
		err := errorOf(bindings.AppenderError(a.handle))
		a.close()
		return nil, err
	}
	varchar := bindings.CreateLogicalType(bindings.TypeVarchar)
	defer bindings.DestroyLogicalType(&varchar)
	types := make([]bindings.LogicalType, len(lists))
	for i := range types {
		types[i] = varchar
	}
	a.chunk = bindings.CreateDataChunk(types)
	a.reset()
	return a, nil
}

func (a *appender) reset() {
	bindings.DataChunkReset(a.chunk)
	for i := range a.vectors {
		a.vectors[i] = bindings.DataChunkGetVector(a.chunk, bindings.IdxT(i))
	}
	a.row, a.size = 0, 0
}

func (a *appender) close() {
	if a.chunk.Ptr != nil {
		bindings.DestroyDataChunk(&a.chunk)
	}
	_ = bindings.AppenderDestroy(&a.handle) // what is to be kept was closed by finish
}

func (a *appender) finish() error {
	if err := a.flush(); err != nil {
		return err
	}
	if bindings.AppenderClose(a.handle) == bindings.StateError {
		return errorOf(bindings.AppenderError(a.handle))
	}
	return nil
}

func (a *appender) flush() error {
	if a.row == 0 {
		return nil
	}
	bindings.DataChunkSetSize(a.chunk, bindings.IdxT(a.row))
	if bindings.AppendDataChunk(a.handle, a.chunk) == bindings.StateError {
		return errorOf(bindings.AppenderError(a.handle))
	}
	a.reset()
	return nil
}

// add appends the rows of one batch.
func (a *appender) add(batch engines.Batch) error {
	switch b := batch.(type) {
	case engines.Frames:
		return a.addFrames(b)
	case engines.Columns:
		return a.addColumns(b.Record)
	default:
		return pgerr.New(pgerr.InternalError, "unknown form of batch %T", batch)
	}
}

func (a *appender) addFrames(b engines.Frames) error {
	return eachField(b.Data, len(a.vectors), func(i int, v []byte) error {
		if v == nil {
			a.null(i)
			return nil
		}
		return a.text(i, v)
	}, a.endRow)
}

func (a *appender) endRow() error {
	a.row++
	if a.row == chunkRows || a.size >= engines.BatchBytes {
		return a.flush()
	}
	return nil
}

func (a *appender) null(col int) {
	bindings.VectorEnsureValidityWritable(a.vectors[col])
	valid := unsafe.Slice((*byte)(bindings.VectorGetValidity(a.vectors[col])), chunkRows/8)
	valid[a.row>>3] &^= 1 << (a.row & 7)
}

func (a *appender) text(col int, v []byte) error {
	if a.lists[col] {
		var err error
		if a.scratch, err = appendListJSON(a.scratch[:0], v); err != nil {
			return err
		}
		v = a.scratch
	}
	if !utf8.Valid(v) {
		return pgerr.New(codeCharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
	}
	bindings.VectorAssignStringElementLen(a.vectors[col], bindings.IdxT(a.row), v)
	a.size += len(v)
	return nil
}
