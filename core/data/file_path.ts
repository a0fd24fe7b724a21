/** Paths of files and folders in a container. */

/** An absolute path without empty steps, `.` and `..`; another one as it is. */
export const normalizedPath = (path: string): string =>
  !path.startsWith("/") ? path : `/${
    path.split("/").reduce<ReadonlyArray<string>>((steps, step) => {
      if (step === "" || step === ".") return steps;
      return step === ".." ? steps.slice(0, -1) : [...steps, step];
    }, []).join("/")
  }`;
