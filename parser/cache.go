package parser

import "github.com/sluicedb/sluice/lru"

// cacheBytes bounds the query texts whose trees are kept; a tree takes some twenty times its text.
const cacheBytes = 1 << 20

// cache keeps the trees of the texts that were parsed last: parsing costs 20 to 130 µs, a look-up under one.
var cache = lru.New[string, []*Statement](cacheBytes)
