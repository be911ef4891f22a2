import { type CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Context, type Effect } from "effect"

interface Grant {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  readonly resource: string
  readonly serverName: string | null
  readonly scopes: ReadonlyArray<string>
  readonly createdAt: Date
}

interface GrantsShape {
  readonly list: Effect.Effect<ReadonlyArray<Grant>, never, CurrentActor>
  readonly revoke: (grantId: string) => Effect.Effect<void, never, CurrentActor>
}

export class Grants extends Context.Tag("pages/Grants")<Grants, GrantsShape>() {}
