// Package wire handles the frontend/backend protocol at the level of frames: a byte, a length, a body (manual, chapter
// "Frontend/Backend Protocol"). Reader walks frames in a bounded buffer so that whole runs of them can be forwarded;
// Replies is the bookkeeping of what home still owes; the Append functions write messages.
//
// The one rule: nothing here does I/O beyond the io.Reader it was given, and nothing allocates by a declared length.
package wire
