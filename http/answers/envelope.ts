import { Schema } from "effect"

/** The envelope of every success: `{ data }`. */
export const Data = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.Struct({ data: schema })

export const data = <A>(value: A) => ({ data: value })
