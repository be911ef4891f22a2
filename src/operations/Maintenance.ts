import { Accounts } from "#src/accounts/Accounts.ts"
import { Standing } from "#src/businesses/Standing.ts"
import { Verification } from "#src/businesses/Verification.ts"
import { BroadLabels } from "#src/composites/BroadLabels.ts"
import { BrowseComposites } from "#src/composites/BrowseComposites.ts"
import { Composites } from "#src/composites/Composites.ts"
import { SystemComposites } from "#src/composites/SystemComposites.ts"
import { Directory } from "#src/directory/Directory.ts"
import { ItemMatches } from "#src/directory/ItemMatches.ts"
import { RomanisedNames } from "#src/directory/RomanisedNames.ts"
import { CapabilityDocs } from "#src/hub/CapabilityDocs.ts"
import { Imports } from "#src/imports/Imports.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { LimitNotices } from "#src/limits/LimitNotices.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { Tokens } from "#src/oauth/Tokens.ts"
import { ServerUse } from "#src/routing/ServerUse.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Idempotency } from "#src/shared/Idempotency.ts"
import { withLongTimeout } from "#src/shared/sql.ts"
import { BusinessFeed } from "#src/syndication/BusinessFeed.ts"
import { GuestRequests } from "#src/usage/GuestRequests.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { ToolCalls } from "#src/usage/ToolCalls.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"

/** For jobs that need not run at once after a start. */
const later = { after: "1 minute" } as const

/** Deletes expired records, raises verification levels, and watches the disk. */
export const MaintenanceLive = Layer.scopedDiscard(Effect.gen(function*() {
  const accounts = yield* Accounts
  const broadLabels = yield* BroadLabels
  const catalog = yield* BrowseComposites
  const feed = yield* BusinessFeed
  const clients = yield* OAuthClients
  const composites = yield* Composites
  const directory = yield* Directory
  const documents = yield* CapabilityDocs
  const disk = yield* Disk
  const guests = yield* GuestRequests
  const idempotency = yield* Idempotency
  const imports = yield* Imports
  const jobs = yield* Jobs
  const standing = yield* Standing
  const notices = yield* LimitNotices
  const items = yield* ItemMatches
  const romanised = yield* RomanisedNames
  const system = yield* SystemComposites
  const tokens = yield* Tokens
  const use = yield* ServerUse
  const requests = yield* ServerRequests
  const toolCalls = yield* ToolCalls
  const verification = yield* Verification
  const patient = withLongTimeout(yield* SqlClient.SqlClient)
  const sweeps = [
    accounts.sweep,
    clients.sweep,
    tokens.sweep,
    idempotency.sweep,
    verification.sweep,
    feed.forget,
    use.sweep,
    guests.sweep,
    requests.fold,
    toolCalls.fold
  ]
  const sweep = Effect.all(sweeps.map((each) => patient(each)), { discard: true })
  yield* jobs.once("Dropping expired previews", "1 hour", patient(imports.sweep), later)
  yield* jobs.once("Removing replaced documents", "10 minutes", documents.sweep, later)
  yield* jobs.every("Looking at the disk", "1 minute", disk.measure)
  yield* jobs.once("Tidying the directory", "10 minutes", directory.tidy, later)
  yield* jobs.once("Indexing catalogs", "2 seconds", patient(items.fold))
  yield* jobs.once("Romanising names", "5 seconds", romanised.fold)
  // Until then a query counts them itself.
  yield* jobs.once("Counting composites", "10 seconds", system.fold)
  yield* jobs.once("Choosing broad labels of composites", "5 minutes", broadLabels.choose(), later)
  yield* jobs.once("Making system composites", "6 hours", system.make, later)
  // Owners see the current level at once (Businesses); everybody else after this job.
  yield* jobs.once("Raising verification levels", "30 seconds", standing.raiseLevels)
  yield* jobs.once("Purging expired composites", "1 day", patient(composites.purge), later)
  yield* jobs.once("Ordering composites", "30 seconds", catalog.renew)
  yield* jobs.once("Telling owners of their limits", "20 seconds", notices.tell)
  yield* jobs.once("Dropping expired records", "10 minutes", sweep, later)
}))
