/**
 * A DNS label (RFC 1035 §2.3.1, RFC 1123 §2.1) without the `xn--` form of RFC 5891: 1–63 of a–z, 0–9, inner hyphens.
 */
export const isLabel = (text: string) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text) && !/^..--/.test(text)
