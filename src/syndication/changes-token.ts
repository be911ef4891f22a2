import { Either, Encoding } from "effect"

/**
 * Up to where a reader of the feed knows everything: all changes of transactions before `xid`, and those of `xid` itself
 * up to the listing `id`. Removals before `since`, when it began, it need not know. `cluster`: whose transactions.
 */
export interface Position {
  readonly cluster: string
  readonly xid: bigint
  readonly id: string
  readonly since: bigint
}

/** A position as an opaque text of letters and digits, `-` and `_`. */
export const encodePosition = ({ cluster, id, since, xid }: Position) =>
  Encoding.encodeBase64Url(`feed 1 ${cluster} ${xid} ${since} ${id}`)

const pattern = /^feed 1 ([0-9a-f]{16}) (\d{1,20}) (\d{1,20}) ([0-9A-HJKMNP-TV-Z]{26})?$/
/** What the database's type xid8 holds. */
const mostXid = 2n ** 64n - 1n

/** Undefined for what no feed ever answered. */
export const decodePosition = (token: string): Position | undefined => {
  const text = Either.getOrElse(Encoding.decodeBase64UrlString(token), () => "")
  const [, cluster, xid, since, id = ""] = pattern.exec(text) ?? []
  if (cluster === undefined || xid === undefined || since === undefined) return undefined
  const position = { cluster, xid: BigInt(xid), since: BigInt(since), id }
  return position.xid <= mostXid && position.since <= mostXid ? position : undefined
}
