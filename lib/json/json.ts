// JSON values as types.

/** A value that JSON can carry without loss. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** An object that JSON can carry without loss. */
export type JsonObject = { readonly [key: string]: Json };
