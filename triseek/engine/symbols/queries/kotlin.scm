(package_header (qualified_identifier) @name) @package
(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration
  (modifiers (class_modifier) @_modifier)
  name: (identifier) @name
  (#eq? @_modifier "enum")) @enum
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @object
(companion_object name: (identifier) @name) @object
(enum_entry (identifier) @name) @enumerator
(function_declaration name: (identifier) @name) @function
(class_parameter ["val" "var"] (identifier) @name) @field
(property_declaration (variable_declaration (identifier) @name)) @variable
(type_alias type: (identifier) @name) @typealias
[(lambda_literal) (anonymous_function) (getter) (setter) (anonymous_initializer)
 (secondary_constructor)] @local
