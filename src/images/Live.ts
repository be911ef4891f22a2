import { Layer } from "effect"
import { HeldBlobs } from "./HeldBlobs.ts"
import { ImageCleanup } from "./ImageCleanup.ts"
import { Images } from "./Images.ts"
import { Mirror } from "./Mirror.ts"
import { StoredImages } from "./StoredImages.ts"
import { Teardown } from "./Teardown.ts"

export const ImagesLive = Layer.mergeAll(
  Layer.provideMerge(Mirror.Default, Images.Default),
  HeldBlobs.Default,
  StoredImages.Default,
  Layer.provideMerge(Teardown.Default, ImageCleanup.Default)
)
