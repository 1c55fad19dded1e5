package duckdb

import (
	"context"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/pgerr"
)

// This file holds all calls of DuckDB's streaming execution. The C API marks them as deprecated, but offers no other
// bounded way to read a result.

// cursor is the open, lazy result of one statement.
type cursor struct {
	connection *connection
	statement  bindings.PreparedStatement
	result     bindings.Result
	again      bool // it reads what is still there for a second run
}

// permit says which kinds of statement may run.
type permit func(bindings.StatementType) bool

func anyStatement(bindings.StatementType) bool { return true }

// onlyReads lets through what yields rows and changes nothing.
func onlyReads(t bindings.StatementType) bool {
	return t == bindings.StatementTypeSelect || t == bindings.StatementTypeExplain
}

// execute prepares and starts one statement. Blocking operators do their whole work in here.
func (c *connection) execute(ctx context.Context, sql string, args []*string, may permit) (*cursor, error) {
	if ctx.Err() != nil {
		return nil, pgerr.Ended(ctx)
	}
	stop := c.watch(ctx)
	defer stop()
	cur := &cursor{connection: c}
	if err := cur.start(sql, args, may); err != nil {
		cur.close()
		if ctx.Err() != nil {
			return nil, pgerr.Ended(ctx)
		}
		return nil, err
	}
	return cur, nil
}

func (cur *cursor) start(sql string, args []*string, may permit) error {
	if bindings.Prepare(cur.connection.handle, sql, &cur.statement) == bindings.StateError {
		return errorOf(bindings.PrepareError(cur.statement))
	}
	if !may(bindings.PreparedStatementType(cur.statement)) {
		return pgerr.New(pgerr.ReadOnlyTransaction, "a stream cannot run a statement that changes something")
	}
	for i, arg := range args {
		if err := cur.bind(bindings.IdxT(i+1), arg); err != nil {
			return err
		}
	}
	if bindings.ExecutePreparedStreaming(cur.statement, &cur.result) == bindings.StateError {
		return errorOf(bindings.ResultError(&cur.result))
	}
	return nil
}

// prepares reports what is wrong with a statement, nil for nothing. It is not run.
func (c *connection) prepares(sql string) error {
	var statement bindings.PreparedStatement
	defer bindings.DestroyPrepare(&statement)
	if bindings.Prepare(c.handle, sql, &statement) == bindings.StateError {
		return errorOf(bindings.PrepareError(statement))
	}
	return nil
}

func (cur *cursor) bind(i bindings.IdxT, arg *string) error {
	state := bindings.StateSuccess
	if arg == nil {
		state = bindings.BindNull(cur.statement, i)
	} else {
		state = bindings.BindVarchar(cur.statement, i, *arg)
	}
	if state == bindings.StateError {
		return pgerr.New(pgerr.ProtocolViolation, "could not bind parameter $%d: the statement takes %d",
			i, bindings.NParams(cur.statement))
	}
	return nil
}

// fetch returns the next chunk, which the caller destroys, or one with a nil Ptr at the end. An end and an error look
// the same to the C API, so the result is asked after every nil.
func (cur *cursor) fetch(ctx context.Context) (bindings.DataChunk, error) {
	if ctx.Err() != nil {
		return bindings.DataChunk{}, pgerr.Ended(ctx)
	}
	stop := cur.connection.watch(ctx)
	defer stop()
	chunk := bindings.FetchChunk(cur.result)
	if chunk.Ptr != nil {
		return chunk, nil
	}
	if message := bindings.ResultError(&cur.result); message != "" {
		if ctx.Err() != nil {
			return chunk, pgerr.Ended(ctx)
		}
		return chunk, errorOf(message)
	}
	return chunk, nil
}

// reason returns the error that ended a statement which was interrupted, though nobody has asked for that. When one thread
// meets an error, DuckDB interrupts the others, and now and then the interrupt is all that the result tells: then the
// statement is run up to the error once more, where it can be.
func (cur *cursor) reason(ctx context.Context) error {
	stop := cur.connection.watch(ctx)
	defer stop()
	for range 3 {
		if !cur.again {
			break
		}
		message := cur.rerun()
		if ctx.Err() != nil {
			return pgerr.Ended(ctx)
		}
		if message == "" {
			break
		}
		if err := errorOf(message); err.Code != pgerr.QueryCanceled {
			return err
		}
	}
	return pgerr.New(codeDataException, "DuckDB has met an error in a value, and does not say which")
}

// rerun runs the statement up to its error, which it returns; empty for none.
func (cur *cursor) rerun() (message string) {
	bindings.DestroyResult(&cur.result)
	if bindings.ExecutePreparedStreaming(cur.statement, &cur.result) == bindings.StateError {
		return bindings.ResultError(&cur.result)
	}
	for {
		chunk := bindings.FetchChunk(cur.result)
		if chunk.Ptr == nil {
			return bindings.ResultError(&cur.result)
		}
		bindings.DestroyDataChunk(&chunk)
	}
}

func (cur *cursor) rowsChanged() int64 { return int64(bindings.RowsChanged(&cur.result)) }

func (cur *cursor) columnCount() int { return int(bindings.ColumnCount(&cur.result)) }

func (cur *cursor) columnName(i int) string {
	return bindings.ColumnName(&cur.result, bindings.IdxT(i))
}

// columnType returns a type that the caller destroys.
func (cur *cursor) columnType(i int) bindings.LogicalType {
	return bindings.ColumnLogicalType(&cur.result, bindings.IdxT(i))
}

func (cur *cursor) close() {
	bindings.DestroyResult(&cur.result)
	bindings.DestroyPrepare(&cur.statement)
}
