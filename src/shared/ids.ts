import { Schema } from "effect"
import { randomFillSync } from "node:crypto"
import { encodeTime, monotonicFactory } from "ulid"

const pool = new Uint8Array(4096)
let used = pool.length

/** Between 0 and 1, from a pool: the package's own source makes a system call for each byte, 16 for an id. */
const random = () => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]! / 256
}

const next = monotonicFactory(random)

/** A new 26-character ULID; those of one process sort in the order of creation. */
export const newUlid = () => next()

/** Before all that are made at that time, in Unix milliseconds, or later. */
export const firstUlidOf = (time: number) => encodeTime(time, 10) + "0".repeat(16)

export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** Whether a text has the form of an id of a business, a listing or what belongs to them. */
export const isUlid = (text: string) => ulidPattern.test(text)

export type IdPrefix = "prj" | "srv" | "dep" | "env" | "key" | "log" | "ses" | "gra" | "fam" | "host" | "reg"

/** `prj_01J…`: a prefix for the kind of thing, and a ULID. */
export const newId = (prefix: IdPrefix) => `${prefix}_${newUlid()}`

/** Whether a text has the form of an id: any other is "not found" without a database query. */
export const isId = (prefix: IdPrefix, text: string) =>
  text.startsWith(`${prefix}_`) && ulidPattern.test(text.slice(prefix.length + 1))

/** The schema of a prefixed id. Ids sort by the time of their creation. */
export const Id = <B extends string>(brand: B, description: string) =>
  Schema.String.pipe(Schema.brand(brand)).annotations({ description })
