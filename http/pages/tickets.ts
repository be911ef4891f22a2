import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Duration, Effect } from "effect"

/** What a ticket is good for: nothing else, nobody else, and no other query. */
export interface TicketFor {
  readonly form: "sign-in" | "sign-up" | "consent" | "grants"
  /** The session's id, or before there is one the visitor's random cookie. */
  readonly holder: string
  readonly query: string
}

/** A page may lie open this long before its form is sent. */
const lifetime = Duration.toMillis("1 hour")

const contextOf = ({ form, holder, query }: TicketFor) => JSON.stringify(["form", form, holder, query])

/**
 * What a form of ours carries to show that we gave it to this visitor, for this: the time, sealed. A page of elsewhere
 * can neither make one nor get one (CSRF, RFC 9700 §4.7).
 */
export const makeTickets = Effect.map(Secrets, (secrets) => ({
  issue: Effect.fn("pages.issueTicket")(function*(purpose: TicketFor) {
    return yield* secrets.seal(String(yield* Clock.currentTimeMillis), contextOf(purpose))
  }),
  isGood: Effect.fn("pages.isGoodTicket")(function*(ticket: string | null, purpose: TicketFor) {
    if (ticket === null) return false
    const opened = yield* Effect.either(secrets.open(ticket, contextOf(purpose)))
    const now = yield* Clock.currentTimeMillis
    return opened._tag === "Right" && now - Number(opened.right) < lifetime
  })
}))
