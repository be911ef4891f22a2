import { Effect } from "effect"

/** What happens, and the ids of what it happens to. */
export interface Happening {
  /** A server's requests go to its new machine. */
  readonly deployed: string
  /** Servers' health was probed. */
  readonly probed: void
  /** Servers are about to be deleted. */
  readonly goingServers: ReadonlyArray<string>
  /** In the transaction that deletes a server, before its row. */
  readonly deletingServer: string
  /** Servers were deleted. */
  readonly goneServers: ReadonlyArray<string>
  /** In the transaction that changes an account's plan. */
  readonly planOfAccount: string
}

type Follower<K extends keyof Happening> = (what: Happening[K]) => Effect.Effect<unknown>
type Followers = { readonly [K in keyof Happening]: Array<Follower<K>> }

/**
 * By this a room does something when something happens in a room that knows nothing of it. Followers run one after the
 * other within what happens, in its transaction if there is one; they can't fail.
 */
export class PlatformEvents extends Effect.Service<PlatformEvents>()("shared/PlatformEvents", {
  sync: () => {
    const followers: Followers = {
      deployed: [],
      probed: [],
      goingServers: [],
      deletingServer: [],
      goneServers: [],
      planOfAccount: []
    }
    return {
      /** To be called while the layers are built. */
      follow: <K extends keyof Happening>(happening: K, follower: Follower<K>) =>
        Effect.sync(() => void followers[happening].push(follower)),
      tell: <K extends keyof Happening>(happening: K, what: Happening[K]) =>
        Effect.forEach<Follower<K>, unknown, never, never>(followers[happening], (follower) => follower(what), {
          discard: true
        })
    } as const
  }
}) {}
