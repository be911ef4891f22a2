import { parseUrl } from "#src/format/parse-url.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"
import { type ByoaConfig } from "#src/servers/ByoaConfig.ts"
import {
  allowedPorts,
  canonicalName,
  type EgressEntry,
  entryText,
  internetPorts,
  parseEntry,
  webPorts
} from "#src/servers/egress-entry.ts"
import { type Egress } from "#src/servers/Egress.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { isIP } from "node:net"

/** What one server's machines may reach. */
export interface Policy {
  readonly serverId: string
  readonly accountId: string
  readonly internet: boolean
  /** What the allow-list says, and where a byoa server finds its issuer and the issuer's keys. */
  readonly entries: ReadonlyArray<EgressEntry>
  /** The same for policies that allow the same. */
  readonly meaning: string
}

interface Stored {
  readonly id: string
  readonly accountId: string
  readonly plan: PlanName
  readonly egress: Egress | null
  readonly byoaConfig: ByoaConfig | null
}

const entryOf = (text: string): ReadonlyArray<EgressEntry> => {
  const entry = parseEntry(text)
  return typeof entry === "string" ? [] : [entry]
}

/** Without a port it is 443, or 80 where the URL is http: in development, on loopback, which no machine reaches. */
const entryOfUrl = (text: string) => {
  const url = parseUrl(text)
  return url === undefined ? [] : entryOf(`${url.hostname}:${url.port || (url.protocol === "http:" ? 80 : 443)}`)
}

export const policyOf = ({ accountId, byoaConfig, egress, id, plan }: Stored): Policy => {
  const effective = egress ?? plans[plan].egress
  const listed = typeof effective === "object" ? effective.allow.flatMap(entryOf) : []
  const own = byoaConfig === null ? [] : [byoaConfig.issuer, byoaConfig.jwksUri].flatMap(entryOfUrl)
  const internet = effective === "internet"
  const entries = [...listed, ...own]
  const meaning = digestOf(JSON.stringify([internet, ...entries.map(entryText)])).toString("base64")
  return { serverId: id, accountId, internet, entries, meaning }
}

/** A host as policies compare it: a canonical name, or an address. Undefined for what no policy can name. */
export const canonicalHost = (text: string): string | undefined =>
  isIP(text) > 0 ? text.toLowerCase() : canonicalName(text)

/** Ports at which a canonical host may be reached by those who look it up. */
export const portsFor = ({ entries, internet }: Policy, host: string): ReadonlyArray<number> =>
  internet ? [...new Set([...internetPorts, ...allowedPorts(entries, host)])] : allowedPorts(entries, host)

export const allows = (policy: Policy, host: string, port: number): boolean =>
  policy.internet || allowedPorts(policy.entries, host).includes(port)

/** The entry of an allow-list that allows a host. */
export const entryFor = (host: string, port: number | undefined) =>
  entryText({ host, subdomains: false, port: port === undefined || webPorts.includes(port) ? undefined : port })
