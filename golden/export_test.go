package golden

// What tests look at that is not exported.
var (
	Alike  = alike
	Repeat = repeat
)
