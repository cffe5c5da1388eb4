// Package registry keeps context packs in an OCI registry, or in a folder of OCI
// image layouts where there is no registry. Both are one type here, and a caller
// cannot tell them apart by what they do.
//
// A pack version is an image manifest with one layer, the bytes of the pack as they
// were read. The manifest is a pure function of pack_id, version and bytes, so its
// digest is known, and can be signed, before anything is pushed. Statements and
// reports are referrers of it (OCI image specification 1.1, "subject"): they never
// change the pack.
//
// Two things shape the code. A registry is not trusted: each manifest and each blob
// is held against its digest and against a size, and an answer that broke off counts
// as no answer. And tags are not trusted either, since most registries move them for
// whoever may write: they are written last, looked at again afterwards, and nothing
// but a name for a digest.
//
// Order is what makes an interrupted push harmless. Blobs go before the manifest that
// names them, the manifest before its referrers, and the tag comes last, so whatever
// is cut short leaves no name for it, and the next run skips what is there.
package registry
