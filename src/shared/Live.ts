import { Layer } from "effect"
import { Disk } from "./Disk.ts"
import { GuardedHttp } from "./GuardedHttp.ts"
import { Idempotency } from "./Idempotency.ts"
import { IdempotencyRepo } from "./IdempotencyRepo.ts"
import { PlatformEvents } from "./PlatformEvents.ts"
import { RateLimit } from "./RateLimit.ts"
import { Secrets } from "./Secrets.ts"

export const SharedLive = Layer.provide(Idempotency.Default, IdempotencyRepo.Default).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Disk.Default, GuardedHttp.Default, PlatformEvents.Default, RateLimit.Default, Secrets.Default)
  )
)
