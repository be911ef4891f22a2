import { Input } from "#src/shared/text.ts"
import { Schema } from "effect"
import { entryText, parseEntry } from "./egress-entry.ts"

const mostEntries = 100
const longestEntry = 300

const problemOf = (text: string): string | true => {
  const entry = text.length > longestEntry ? `must be at most ${longestEntry} characters` : parseEntry(text)
  return typeof entry === "string" ? entry : true
}

const canonical = (text: string) => {
  const entry = parseEntry(text)
  return typeof entry === "string" ? text : entryText(entry)
}

const Entry = Schema.String.pipe(
  Schema.filter((text) => problemOf(text), { jsonSchema: { maxLength: longestEntry } })
)

/** Entries that are checked, made canonical, and each there once. */
const Allow = Schema.transform(
  Schema.Array(Entry).annotations({ parseOptions: { errors: "first" } }).pipe(
    Schema.maxItems(mostEntries, { message: () => `must be at most ${mostEntries} entries` })
  ),
  Schema.Array(Schema.String),
  { strict: true, decode: (entries) => [...new Set(entries.map(canonical))], encode: (entries) => entries }
)

const described = "Hosts outside that its machine may reach, beside AUTH_URL and a byoa server's issuer and keys: " +
  "{allow: [host, *.host or host:port, …]} (without a port: 443 and 80; *.host: its subdomains), \"internet\" (all " +
  "but private addresses) or \"none\""
const description = `${described}. A change counts at once, without a deployment`
const orDefault = `${description}. null: the default of the account's plan`

const Word = Schema.Literal("internet", "none")

/** What a server's machine may reach, as callers send it. Null is the plan's default. */
export const EgressInput = Schema.NullOr(Schema.Union(Word, Input({ allow: Allow }))).annotations({
  description: orDefault
})

const Hosts = Input({
  allow: Schema.optionalWith(Allow, { exact: true }).annotations({
    description: "The whole list: it replaces the one before"
  }),
  add: Schema.optionalWith(Allow, { exact: true }).annotations({
    description: "Hosts to allow beside those that are allowed now"
  })
})
type Hosts = typeof Hosts.Type

const oneOfBoth = ({ add, allow }: Hosts) =>
  (add === undefined) !== (allow === undefined) ||
  "must have allow (the whole list) or add (hosts beside those of now), and not both"

/** The same for a server that there is: hosts may be added to what it is allowed already. */
export const EgressChange = Schema.NullOr(Schema.Union(Word, Hosts.pipe(Schema.filter(oneOfBoth)))).annotations({
  description: `${orDefault}. {add: [host, …]} allows these beside what is allowed now`
})
export type EgressChange = typeof EgressChange.Type

/** The same as it is stored and shown. */
export const Egress = Schema.Union(
  Word,
  Schema.Struct({ allow: Schema.Array(Schema.String) })
).annotations({ title: "Egress", description })
export type Egress = typeof Egress.Type

/** A list, or none, with these hosts allowed too; undefined when it would be too long. */
export const widened = (now: Exclude<Egress, "internet">, hosts: ReadonlyArray<string>) => {
  const allow = [...new Set([...now === "none" ? [] : now.allow, ...hosts])]
  return allow.length > mostEntries ? undefined : { allow }
}

export const tooMany = `would make the list longer than ${mostEntries} entries; replace it by a shorter one (allow)`
