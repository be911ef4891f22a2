import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { BusinessNotFound } from "#src/businesses/Business.ts"
import { CatalogFull } from "#src/businesses/Catalog.ts"
import { FileTooLarge, TooManyImports, TooManyPreviews, UnsupportedFormat } from "#src/imports/Import.ts"
import { ColumnsNotMapped } from "#src/imports/Mappings.ts"
import { ComputeUsedUp, PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { ProjectNotFound } from "#src/projects/Project.ts"
import { DryRun, Publication, PublicationCutOff, PublicationGoesOn, Publish } from "#src/publishing/Publication.ts"
import { NoReadyImage } from "#src/ready-image/ReadyImage.ts"
import { LowDisk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class PublishingApi extends HttpApiGroup.make("publishing")
  .add(
    HttpApiEndpoint.post("publish", "/api/v1/ready/businesses/publish")
      .setPayload(Publish)
      .addSuccess(Data(Publication), { status: 201 })
      .addSuccess(Data(DryRun))
      .addError(ProjectNotFound)
      .addError(BusinessNotFound)
      .addError(CatalogFull)
      .addError(TooManyPreviews)
      .addError(PlanLimitReached)
      .addError(ComputeUsedUp)
      .addError(NoReadyImage)
      .addError(LowDisk)
      .addError(Invalid)
      .addError(ColumnsNotMapped)
      .addError(FileTooLarge)
      .addError(UnsupportedFormat)
      .addError(TooManyImports)
      .addError(PublicationCutOff)
      .addError(PublicationGoesOn)
      .annotate(
        OpenApi.Summary,
        "Publish a business from a catalog file: import, server, deployment, listing, in one call"
      )
      .annotate(
        OpenApi.Description,
        "Session only; answers when the deployment ended, running or failed (deployment.errorMessage). A file that " +
          "can't be imported leaves nothing behind. Nor does one whose prices would be lost: when no item has a price " +
          "and a column that is not imported looks like one, 422 names it; pass it in `mappings`, or map it to " +
          "`ignore`. The same when the file has prices and none of them can be read, such as text in JSON (words in " +
          "prices are for CSV only) or another currency, and when none of its items can be imported. `dryRun` " +
          "answers 200 with the import's preview and, in `refusal`, whether these checks would refuse it; it writes " +
          "nothing. What can't be imported at all, such as a file without a name column, is 422 with `dryRun` too. " +
          "`importId` is for the import's revert. The file's text is at most 900,000 characters; a bigger one takes " +
          "the import's two steps. Sent again it makes another business: send an Idempotency-Key, or with `businessId` the " +
          "business that is there: the file's items take the place of its catalog, or with mode `add` come after it; " +
          "reverting the import brings the replaced catalog back."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Publishing")
{}
