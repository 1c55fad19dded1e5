package duckdb

/*
#include <stdlib.h>

void sluice_feed_bind(void *info);
void sluice_feed_init(void *info);
void sluice_feed_fill(void *info, void *output);
void sluice_feed_release(void *handle);

typedef void (*sluice_callback)(void *);
typedef void (*sluice_fill)(void *, void *);
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// feedName is the table function that federated queries read their feeds by.
const feedName = "sluice_feed"

// feedThreads is how many threads of DuckDB may work on one feed: what stands behind it in a pipeline then runs in
// parallel, though the rows are taken from their stream one batch after the other.
const feedThreads = 16

// registerFeeds adds the table function to an instance, for all of its connections.
func registerFeeds(c *connection, f *Federation) error {
	function := bindings.CreateTableFunction()
	defer bindings.DestroyTableFunction(&function)
	bindings.TableFunctionSetName(function, feedName)
	number := bindings.CreateLogicalType(bindings.TypeInteger)
	defer bindings.DestroyLogicalType(&number)
	bindings.TableFunctionAddParameter(function, number)
	bindings.TableFunctionSetExtraInfo(function, hold(f), release())
	bindings.TableFunctionSupportsProjectionPushdown(function, true)
	bindings.TableFunctionSetBind(function, unsafe.Pointer(C.sluice_callback(C.sluice_feed_bind)))
	bindings.TableFunctionSetInit(function, unsafe.Pointer(C.sluice_callback(C.sluice_feed_init)))
	bindings.TableFunctionSetFunction(function, unsafe.Pointer(C.sluice_fill(C.sluice_feed_fill)))
	if bindings.RegisterTableFunction(c.handle, function) == bindings.StateError {
		return pgerr.New(pgerr.InternalError, "DuckDB refuses table function %s", feedName)
	}
	return nil
}

// hold keeps a Go value for C until release is called with what hold returns.
func hold(value any) unsafe.Pointer {
	p := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(p) = cgo.NewHandle(value)
	return p
}

func held[T any](p unsafe.Pointer) T { return (*(*cgo.Handle)(p)).Value().(T) }

func release() unsafe.Pointer { return unsafe.Pointer(C.sluice_callback(C.sluice_feed_release)) }

//export sluice_feed_release
func sluice_feed_release(p unsafe.Pointer) {
	h := *(*cgo.Handle)(p)
	if s, ok := h.Value().(*scan); ok {
		s.close()
	}
	h.Delete()
	C.free(p)
}

// boundFeed is a feed as one place in a statement reads it.
type boundFeed struct {
	run   *federated
	feed  *engines.Feed
	types []*feedType
}

//export sluice_feed_bind
func sluice_feed_bind(p unsafe.Pointer) {
	info := bindings.BindInfo{Ptr: p}
	b, err := bindFeed(info)
	if err != nil {
		bindings.BindSetError(info, err.Error())
		return
	}
	for i, c := range b.feed.Columns {
		l := b.types[i].logical()
		bindings.BindAddResultColumn(info, c.Name, l)
		bindings.DestroyLogicalType(&l)
	}
	if b.feed.Rows > 0 {
		bindings.BindSetCardinality(info, bindings.IdxT(b.feed.Rows), false)
	}
	bindings.BindSetBindData(info, hold(b), release())
}

func bindFeed(info bindings.BindInfo) (*boundFeed, error) {
	var client bindings.ClientContext
	bindings.TableFunctionGetClientContext(info, &client)
	defer bindings.DestroyClientContext(&client)
	run := held[*Federation](bindings.BindGetExtraInfo(info)).running(bindings.ClientContextGetConnectionId(client))
	value := bindings.BindGetParameter(info, 0)
	defer bindings.DestroyValue(&value)
	n := int(bindings.GetInt32(value))
	if run == nil || n < 1 || n > len(run.feeds) {
		return nil, fmt.Errorf("there is no feed %d", n)
	}
	b := &boundFeed{run: run, feed: &run.feeds[n-1]}
	for _, c := range b.feed.Columns {
		t, err := newFeedType(c.Type)
		if err != nil {
			return nil, run.fail(err)
		}
		b.types = append(b.types, t)
	}
	return b, nil
}

//export sluice_feed_init
func sluice_feed_init(p unsafe.Pointer) {
	info := bindings.InitInfo{Ptr: p}
	b := held[*boundFeed](bindings.InitGetBindData(info))
	s, err := b.open()
	if err != nil {
		bindings.InitSetError(info, b.run.fail(err).Error())
		return
	}
	for i := range bindings.InitGetColumnCount(info) {
		// An index beyond the columns stands for a row's number, where only the number of rows counts.
		source := int(int64(bindings.InitGetColumnIndex(info, i)))
		if source >= 0 && source < len(b.types) {
			s.columns = append(s.columns, scanColumn{source: source, target: int(i), typ: b.types[source]})
		}
	}
	bindings.InitSetMaxThreads(info, feedThreads)
	bindings.InitSetInitData(info, hold(s), release())
}

//export sluice_feed_fill
func sluice_feed_fill(p, output unsafe.Pointer) {
	info := bindings.FunctionInfo{Ptr: p}
	s := held[*scan](bindings.FunctionGetInitData(info))
	if err := s.fill(bindings.DataChunk{Ptr: output}); err != nil {
		bindings.FunctionSetError(info, s.run.fail(err).Error())
	}
}
