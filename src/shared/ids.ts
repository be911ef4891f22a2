import { Schema } from "effect"
import { randomFillSync } from "node:crypto"
import { monotonicFactory } from "ulid"

const pool = new Uint8Array(4096)
let used = pool.length

/** Between 0 and 1. The package asks the system for each byte of its own, 16 times an id. */
const random = () => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]! / 256
}

const next = monotonicFactory(random)

/** A fresh 26-character ULID; those made by one process sort in the order they were made. */
export const newUlid = () => next()

export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** Whether a text can be the id of a business, a listing or what belongs to them. */
export const isUlid = (text: string) => ulidPattern.test(text)

export type IdPrefix = "prj" | "srv" | "dep" | "env" | "key" | "log" | "ses" | "gra" | "fam" | "host"

/** `prj_01J…`: a prefix that tells what the id names, and a ULID. */
export const newId = (prefix: IdPrefix) => `${prefix}_${newUlid()}`

/** Whether a text can be an id at all: what cannot is "not found" without asking the database. */
export const isId = (prefix: IdPrefix, text: string) =>
  text.startsWith(`${prefix}_`) && ulidPattern.test(text.slice(prefix.length + 1))

/** The time a prefixed id was made, in Unix milliseconds, is its order: ids sort as they were made. */
export const Id = <B extends string>(brand: B, description: string) =>
  Schema.String.pipe(Schema.brand(brand)).annotations({ description })
