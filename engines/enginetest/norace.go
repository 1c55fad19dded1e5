//go:build !race

package enginetest

// raceDetector says that each access to memory is noted, which takes memory itself.
const raceDetector = false
