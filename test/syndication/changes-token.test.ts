import { decodePosition, encodePosition } from "#src/syndication/changes-token.ts"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"

const xid = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const position = fc.record({
  cluster: fc.stringMatching(/^[0-9a-f]{16}$/),
  xid,
  since: xid,
  id: fc.oneof(fc.constant(""), fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/))
})

it("a token is its position, and needs no escape in a URL", () => {
  fc.assert(fc.property(position, (position) => {
    const token = encodePosition(position)
    expect(decodePosition(token)).toEqual(position)
    expect(encodeURIComponent(token)).toBe(token)
  }))
})

it("another text is no token, and never an error", () => {
  fc.assert(fc.property(fc.string(), fc.uint8Array(), (text, bytes) => {
    expect(decodePosition(text)).toBeUndefined()
    expect(decodePosition(Buffer.from(bytes).toString("base64url"))).toBeUndefined()
  }))
  for (const text of ["feed 1 0123456789abcdef 18446744073709551616 0 ", "feed 2 0123456789abcdef 1 0 "]) {
    expect(decodePosition(Buffer.from(text).toString("base64url"))).toBeUndefined()
  }
})
