import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { FileTooLarge, TooManyImports, UnsupportedFormat } from "#src/imports/Import.ts"
import { PlanLimitReached } from "#src/plans/Plan.ts"
import { ProjectNotFound } from "#src/projects/Project.ts"
import { Publication, PublicationCutOff, Publish } from "#src/publishing/Publication.ts"
import { NoReadyImage } from "#src/ready-image/ReadyImage.ts"
import { LowDisk } from "#src/shared/Disk.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class PublishingApi extends HttpApiGroup.make("publishing")
  .add(
    HttpApiEndpoint.post("publish", "/api/v1/ready/businesses/publish")
      .setPayload(Publish)
      .addSuccess(Data(Publication), { status: 201 })
      .addError(ProjectNotFound)
      .addError(PlanLimitReached)
      .addError(NoReadyImage)
      .addError(LowDisk)
      .addError(Invalid)
      .addError(FileTooLarge)
      .addError(UnsupportedFormat)
      .addError(TooManyImports)
      .addError(PublicationCutOff)
      .annotate(
        OpenApi.Summary,
        "Publish a business from a catalog file: import, server, deployment, listing, in one call"
      )
      .annotate(
        OpenApi.Description,
        "Session only; answers when the deployment ended, running or failed (deployment.errorMessage). A file that " +
          "can't be imported leaves nothing behind. The file's text is at most 900,000 characters; a bigger one takes " +
          "the import's two steps. Sent again it makes another business: send an Idempotency-Key."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Publishing")
{}
