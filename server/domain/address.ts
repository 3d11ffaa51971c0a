// Addresses that are told again: what a client has sent may hold characters that no URI has.

/** A path, or a path and a query, as a URI reference (RFC 3986): what cannot stand in one is escaped. */
export function uriReference(address: string): string {
  return address.replace(OUTSIDE, encodeURIComponent);
}

const OUTSIDE = /%(?![0-9A-Fa-f]{2})|[^\w!$%&'()*+,./:;=?@~-]/g;
