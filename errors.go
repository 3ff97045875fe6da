package blocked

import "errors"

// The errors that this package returns are wrapped: test them with errors.Is. Their texts name the parameter, its value and its range.
var (
	// ErrParameter is wrapped by the error for a parameter that is out of range.
	ErrParameter = errors.New("parameter out of range")

	// ErrUnreachable is wrapped by the error for a false positive rate that is lower than any number of probes in one block reaches for a sensible size. Its
	// text names the lowest rate that can be had. It comes together with ErrParameter.
	ErrUnreachable = errors.New("false positive rate not reachable")

	// ErrTooLarge is wrapped by the error for a filter that is larger than the format, the platform, or WithMaxBytes allows.
	ErrTooLarge = errors.New("filter too large")

	// ErrFull is wrapped by the error for a new key that a [Growing] has no room for: it does not scale, WithMaxBytes is used up, or no further layer could keep the false
	// positive rate. Keys that it has are still found.
	ErrFull = errors.New("filter full")

	// ErrCorrupt is wrapped by the error for bytes that are no filter: damaged, cut short, with bytes appended, or of another kind. Nothing was read from them.
	ErrCorrupt = errors.New("not a filter, or damaged")

	// ErrVersion is wrapped by the error for a filter in a version of the format, or with flags, that this version of the package does not know.
	ErrVersion = errors.New("unknown version of the format")

	// ErrMismatch is wrapped by the error for filters that cannot be combined or compared, and for one whose hash is not the reader's. Its text names what
	// differs.
	ErrMismatch = errors.New("filters do not match")

	// ErrBusy is wrapped by the error for a [Live] that is being rebuilt already.
	ErrBusy = errors.New("already under way")
)
