// Three files with fixed names, so that the server can embed them by name.
export default {
  base: "./",
  build: {
    outDir: "../crates/server/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        assetFileNames: "page.[ext]",
      },
    },
  },
};
