import { invitation, owner } from "../../program/support/owner.ts"
import { type Program } from "../../program/support/program.ts"

/** The hosted restaurant and the platform's own door, with the tokens that open them and those that must not. */
export interface Doors {
  /** Both addresses of the restaurant, without a path. */
  readonly hosted: Readonly<Record<"path form" | "host form", string>>
  readonly platform: string
  readonly tokens: {
    readonly hosted: string
    /** Of another server of the same owner. */
    readonly other: string
    readonly session: string
  }
}

export const doorsOf = async (program: Program): Promise<Doors> => {
  const { token, url } = invitation(program.output())
  const { newServer, session, testToken } = await owner(program)
  const other = await newServer("Other")
  return {
    hosted: {
      "path form": url.replace(/\/mcp$/, ""),
      "host form": `http://copper-ladle.mcp.localhost:${program.place.port}`
    },
    platform: program.url,
    tokens: { hosted: token, session, other: await testToken(other.id) }
  }
}
