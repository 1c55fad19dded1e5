// Package ddl carries out what home cannot do by itself for our foreign-data wrappers: Check validates options before a
// statement goes to home, Import turns an engine's tables into CREATE FOREIGN TABLE statements, Secret resolves
// references to secrets, and ShadowCatalog points introspection queries at views that work.
//
// The one rule: it reads syntax trees and writes statements for home; it runs none.
package ddl
