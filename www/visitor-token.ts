// The proof of the visitor, as a page passes it to the widget and to the client.

/** A token that the site's server has signed; `null` and `undefined` while nobody is signed in. */
export type VisitorToken = string | null | undefined;
