import { isAdmitted, revokedGrant } from "#src/oauth/member-standing.ts"
import { type MemberCode } from "./member-code.ts"
import { type MemberServer, type ReachedMember } from "./reached-sql.ts"

/** Why a member is not called. */
export interface Obstacle {
  readonly code: MemberCode
  /** A sentence without its full stop. */
  readonly reason: string
  /** The grant that its user revoked, and can renew. */
  readonly grantId?: string
  /** Whether its tools stay listed: what may be over soon shall not change the list. */
  readonly isPassing: boolean
}

/** A member of a composite with its server, and what keeps it from being called. */
export interface Reached extends ReachedMember {
  readonly obstacle: Obstacle | undefined
}

/** Who calls. `forEverybody`: it may reach only what everybody may use. */
export interface Caller {
  readonly accountId: string
  readonly forEverybody: boolean
}

const lasting = (code: MemberCode, reason: string): Obstacle => ({ code, reason, isPassing: false })

/** Whether composites may call a listing's server: as its owner says, else when everybody may use it. */
const isComposable = ({ access, composable }: Pick<MemberServer, "access" | "composable">) =>
  composable ?? access === "public"

export const revocation = (grantId: string): Obstacle => ({
  code: "member_revoked",
  reason:
    `this account's access to it was revoked; its user can allow it again: POST /v1/auth/grants/${grantId}/renew, or renew_grant`,
  grantId,
  isPassing: true
})

/** Of a member that failed lately, for this account alone. */
export const resting = (seconds: number): Obstacle => ({
  code: "member_unreachable",
  reason: `its server failed several times in a row and is not asked for ${seconds} seconds`,
  isPassing: true
})

/** Asked, it would fail three times at once, and then rest although it runs again. */
const broughtBack: Obstacle = {
  code: "member_unreachable",
  reason: "its server is being brought back: ask it again soon",
  isPassing: true
}

/** Undefined: the member can be called. */
export const obstacleOf = (
  server: MemberServer | null,
  { accountId, forEverybody }: Caller
): Obstacle | undefined => {
  if (server === null) return lasting("member_not_callable", "it has no server")
  if (server.authMode === "byoa") {
    return lasting(
      "member_not_callable",
      "its server takes the tokens of its own authorization server: connect to it"
    )
  }
  if (!isComposable(server)) {
    return lasting(
      "member_not_callable",
      server.composable === false
        ? "its owner does not let composites call it: connect to it"
        : "its server does not let in everybody, and its owner has not allowed composites (composable of the listing)"
    )
  }
  if (forEverybody && server.access !== "public") {
    return lasting("member_refused", "a hub key reaches only servers that everybody may use: log in")
  }
  if (!isAdmitted(server, accountId)) return lasting("member_refused", "its server does not let in this account")
  if (server.listedBy === null) {
    return lasting("member_not_callable", "its tools are not known: its last deployment did not list them")
  }
  if (server.status === "stopped" && !server.asleep) {
    return { code: "member_stopped", reason: "its server is stopped; its owner can start it", isPassing: true }
  }
  if (server.status === "provisioning") return broughtBack
  const revoked = revokedGrant(server)
  return revoked === undefined ? undefined : revocation(revoked)
}
