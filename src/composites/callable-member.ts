import { type MemberServer, type ReachedMember } from "./reached-sql.ts"

/** Whether composites may call a listing's server: as its owner says, else when everybody may use it. */
const isComposable = ({ access, composable }: Pick<MemberServer, "access" | "composable">) =>
  composable ?? access === "public"

/**
 * Why a member is listed and not called, as a sentence without its full stop; undefined: it can be called.
 * `forEverybody`: the caller may reach only what everybody may use.
 */
export const obstacleOf = (server: MemberServer | null, forEverybody: boolean): string | undefined => {
  if (server === null) return "it has no server"
  if (server.authMode === "byoa") return "its server takes the tokens of its own authorization server: connect to it"
  if (!isComposable(server)) return "its owner does not let composites call it: connect to it"
  if (forEverybody && server.access !== "public") return "a hub key reaches only servers that everybody may use: log in"
  return server.listedBy === null ? "its tools are not known: its last deployment did not list them" : undefined
}

/** A member of a composite with its server, and whether it is called. */
export interface Reached extends ReachedMember {
  readonly obstacle: string | undefined
}
