<?php
/**
 * Plugin Name: A stand-in for WooCommerce
 * Description: Has the post type, the taxonomy and the fields of WooCommerce's products. For tests only.
 */

declare(strict_types=1);

add_action('init', static function (): void {
    register_post_type('product', ['public' => true, 'rewrite' => ['slug' => 'product']]);
    register_post_type('product_variation', ['public' => false]);
    register_taxonomy('product_cat', 'product', ['public' => true, 'rewrite' => ['slug' => 'product-category']]);
});
