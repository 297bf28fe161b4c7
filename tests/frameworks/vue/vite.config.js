import vue from "@vitejs/plugin-vue";
import documented from "./documented.config.js";

export default { ...documented, plugins: [vue()] };
