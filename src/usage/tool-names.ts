import { storableText } from "#src/shared/outside-text.ts"

/** Longer names are cut: clients and their users choose them. */
const maxLength = 128

/** Names of tools that are told apart, by server and day; those of calls that failed only fill half of them. */
const maxTools = 100
const maxFailing = maxTools / 2
const maxClients = 20

/** The name of all that have none of their own. */
export const others = ""

export interface Names {
  readonly tools: Set<string>
  readonly clients: Set<string>
}

export interface Named {
  readonly tool: string
  readonly client: string
  readonly isError: boolean
}

const isPlain = /^[\x20-\x7e]*$/

/** A name as a client told it, which may be anything. */
export const nameOf = (told: string) =>
  told.length <= maxLength && isPlain.test(told) ? told : storableText(told, maxLength)

const admitted = (names: Set<string>, name: string, max: number) => {
  if (name === others || names.has(name)) return name
  if (names.size >= max) return others
  names.add(name)
  return name
}

/** The names under which a call is counted; new ones are noted while there is room. */
export const admit = (names: Names, { client, isError, tool }: Named) => ({
  tool: admitted(names.tools, tool, isError ? maxFailing : maxTools),
  client: admitted(names.clients, client, maxClients)
})
