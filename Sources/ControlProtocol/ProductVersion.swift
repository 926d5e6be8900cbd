// The version that the daemon and its tool compare.

/// The version of this product; the daemon and the tool of one build have the same.
public enum ProductVersion {
    public static let current = "0.1.0"
}
