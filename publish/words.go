package publish

// Words returns message and hint of an error of publish, publish/attest or
// publish/registry, for a person; of any other error the whole text, and no hint.
func Words(err error) (message, hint string) { return parts(err) }
