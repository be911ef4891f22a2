import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { PushedImage } from "#src/uploads/PushedImage.ts"
import { PushedImages } from "#src/uploads/PushedImages.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const imageTools = Effect.map(PushedImages, (images) => [
  tool({
    toolset: "deploy",
    name: "list_images",
    title: "List pushed images",
    description:
      "Lists the images that docker, skopeo or crane pushed to a project's registry at /v2. deploy takes their imageUri.",
    effect: "read",
    needs: ["deployments:read"],
    params: Input({ projectId: Schema.String, ...PageArguments }),
    success: PageOf(PushedImage),
    run: ({ projectId, ...request }) => images.list(projectId, request)
  }),
  tool({
    toolset: "deploy",
    name: "delete_image",
    title: "Delete a pushed image",
    description:
      "Deletes a pushed image with its tags, from every repository of the project. What runs, or can be rolled back to, stays. To have it again, push it again.",
    effect: "delete",
    needs: ["deployments:write"],
    params: Input({ projectId: Schema.String, digest: Schema.String }),
    run: ({ digest, projectId }) => images.remove(projectId, digest)
  })
])
