package catalog

// NewMigrate is newMigrate, for tests of the migrations themselves.
var NewMigrate = newMigrate
