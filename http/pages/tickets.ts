import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Duration, Effect } from "effect"

/** What a ticket is bound to: it is valid for this form, this visitor and this query only. */
export interface TicketFor {
  readonly form: "sign-in" | "sign-up" | "consent" | "grants" | "checkout"
  /** The session's id or, before there is one, the visitor's random cookie. */
  readonly holder: string
  readonly query: string
}

/** How long a page may be open before its form is sent. */
const lifetime = Duration.toMillis("1 hour")

const contextOf = ({ form, holder, query }: TicketFor) => JSON.stringify(["form", form, holder, query])

/**
 * CSRF tokens (RFC 9700 §4.7): the sealed time, which proves that we issued the form to this visitor for this purpose.
 * A page of another site can neither make nor read one.
 */
export const makeTickets = Effect.map(Secrets, (secrets) => ({
  issue: Effect.fn("pages.issueTicket")(function*(purpose: TicketFor) {
    return yield* secrets.seal(String(yield* Clock.currentTimeMillis), contextOf(purpose))
  }),
  isValid: Effect.fn("pages.isGoodTicket")(function*(ticket: string | null, purpose: TicketFor) {
    if (ticket === null) return false
    const opened = yield* Effect.either(secrets.open(ticket, contextOf(purpose)))
    const now = yield* Clock.currentTimeMillis
    return opened._tag === "Right" && now - Number(opened.right) < lifetime
  })
}))
